// SPDX-License-Identifier: Apache-2.0
// The FFT used by XLA's kernel, for one thread, the kernel, and the options of a run that it reads:
// they are always linked together. The wheel ships ducc's headers and the kernel, but not the code
// between them. The shapes of in and out agree, as XLA's FFT operation requires.
#include <utility>

#include "ducc/google/fft.h"
#include "ducc0/fft/fft.h"
#include "ducc0/fft/fftnd_impl.h"

// The cache of plans is never destroyed: the compiler would call atexit, which only the start files
// and libraries of a compiler have. 'tfaot run' links with ld alone.
extern "C" {
__attribute__((used)) static int tfaot_never_at_exit(void (*)()) { return 0; }
}
asm(".set atexit, tfaot_never_at_exit");

// The factors of transforms are those of every machine (tfaot/kernels/functions.def).
asm(".set sin, tfaot_sin_f64\n.set cos, tfaot_cos_f64\n.set sincos, tfaot_sincos_f64");

namespace ducc0 {
namespace detail_threading {
namespace {

// The calling thread does all the work.
class OneThread : public Scheduler {
 public:
  explicit OneThread(size_t work) : rest_{0, work} {}
  size_t num_threads() const override { return 1; }
  size_t thread_num() const override { return 0; }
  Range getNext() override { return std::exchange(rest_, Range{}); }

 private:
  Range rest_;
};

}  // namespace

size_t adjust_nthreads(size_t) { return 1; }

void execStatic(size_t work, size_t, size_t, std::function<void(Scheduler&)> run) {
  OneThread scheduler(work);
  run(scheduler);
}

void execParallel(size_t, std::function<void(Scheduler&)> run) {
  OneThread scheduler(1);
  run(scheduler);
}

}  // namespace detail_threading

namespace google {

template <class T>
void c2c(const std::complex<T>* in, const Shape& in_shape, const Stride& in_stride,
         std::complex<T>* out, const Shape& out_shape, const Stride& out_stride, const Shape& axes,
         bool forward, T scale, Eigen::ThreadPoolInterface*) {
  ducc0::c2c(cfmav<std::complex<T>>(in, in_shape, in_stride),
             vfmav<std::complex<T>>(out, out_shape, out_stride), axes, forward, scale, 1);
}

template <class T>
void r2c(const T* in, const Shape& in_shape, const Stride& in_stride, std::complex<T>* out,
         const Shape& out_shape, const Stride& out_stride, const Shape& axes, bool forward, T scale,
         Eigen::ThreadPoolInterface*) {
  ducc0::r2c(cfmav<T>(in, in_shape, in_stride), vfmav<std::complex<T>>(out, out_shape, out_stride),
             axes, forward, scale, 1);
}

template <class T>
void c2r(const std::complex<T>* in, const Shape& in_shape, const Stride& in_stride, T* out,
         const Shape& out_shape, const Stride& out_stride, const Shape& axes, bool forward, T scale,
         Eigen::ThreadPoolInterface*) {
  ducc0::c2r(cfmav<std::complex<T>>(in, in_shape, in_stride), vfmav<T>(out, out_shape, out_stride),
             axes, forward, scale, 1);
}

#define TFAOT_FFT(T)                                                                          \
  template void c2c<T>(const std::complex<T>*, const Shape&, const Stride&, std::complex<T>*, \
                       const Shape&, const Stride&, const Shape&, bool, T,                    \
                       Eigen::ThreadPoolInterface*);                                          \
  template void r2c<T>(const T*, const Shape&, const Stride&, std::complex<T>*, const Shape&, \
                       const Stride&, const Shape&, bool, T, Eigen::ThreadPoolInterface*);    \
  template void c2r<T>(const std::complex<T>*, const Shape&, const Stride&, T*, const Shape&, \
                       const Stride&, const Shape&, bool, T, Eigen::ThreadPoolInterface*)
TFAOT_FFT(float);
TFAOT_FFT(double);

}  // namespace google
}  // namespace ducc0

#include "xla/executable_run_options.cc"
#include "xla/service/cpu/runtime_fft.cc"
#include "xla/service/cpu/runtime_single_threaded_fft.cc"
