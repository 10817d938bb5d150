#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# at_once.sh HOW TFAOT OUT CONFIG...: while `tfaot release` builds RPMs in OUT, something happens, by HOW:
#   second     another one begins and must wait
#   killed     it is killed (SIGKILL), and what it started writes on while another one begins
#   interrupt  it is interrupted (SIGINT)
set -eu
how=$1 tfaot=$2 out=$3
shift 3
here=$PWD/$how
mkdir "$here"

# An rpmbuild that waits until it may go on.
real=$(command -v rpmbuild)
mkdir "$here/bin"
cat >"$here/bin/rpmbuild" <<END
#!/bin/sh
touch '$here/begun'
until [ -e '$here/go' ]; do sleep 0.05; done
exec '$real' "\$@"
END
chmod +x "$here/bin/rpmbuild"
PATH=$here/bin:$PATH
export PATH

# until_true COMMAND...: for a minute at most
until_true() {
  tries=0
  until "$@"; do
    tries=$((tries + 1))
    if [ $tries -gt 1200 ]; then
      echo "waited in vain for: $*"
      touch "$here/go"
      exit 1
    fi
    sleep 0.05
  done
}

env --default-signal=INT "$tfaot" release "$@" -o "$out" -j 1 >"$here/first" 2>&1 & # a shell has its jobs ignore it
first=$!
until_true test -e "$here/begun"
case $how in
killed)
  kill -KILL $first
  wait $first || true # a process that nobody has waited for still counts as alive
  ;;
interrupt) kill -INT $first ;;
esac
if [ "$how" = interrupt ]; then
  wait $first && exit 1
  cat "$here/first"
  exit 0
fi

"$tfaot" release "$@" -o "$out" -j 1 >"$here/second" 2>&1 &
second=$!
until_true grep -q "waiting for it to end" "$here/second"
sed "s/process $first/process FIRST/" "$here/second"
touch "$here/go"
[ "$how" = killed ] || wait $first
wait $second
grep -h "^built" "$here/first" "$here/second"
