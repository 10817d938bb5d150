// SPDX-License-Identifier: Apache-2.0
// A program in C that links a library of models.
#include <stdio.h>

#include "tfaot/runtime/tfaot.h"

int main(void) {
  const float x[3] = {0, 1, 2};
  float y[3];
  const void* const inputs[] = {x};
  void* const outputs[] = {y};
  tfaot_error error = {sizeof error, 0, ""};
  tfaot_request request = {sizeof request, 0, "model_8", NULL};
  tfaot_record record = {sizeof record, 0, NULL, NULL, 0, NULL, NULL, NULL};
  const tfaot_call call = {sizeof call, 1, 1, 0, 1, inputs, outputs, NULL};
  tfaot_handle* model = NULL;
  if (tfaot_models_open(&request, &model, &error) != TFAOT_OK ||
      tfaot_models_record(model, &record, &error) != TFAOT_OK ||
      tfaot_models_prepare(model, 1, &error) != TFAOT_OK ||
      tfaot_models_run(model, &call, &error) != TFAOT_OK) {
    fprintf(stderr, "%s\n", error.text);
    return 1;
  }
  printf("%s %s: %g %g %g\n", record.model_name, record.version, y[0], y[1], y[2]);
  tfaot_models_close(model);
  request.name = "model_0";
  if (tfaot_models_open(&request, &model, &error) == TFAOT_NO_SUCH_MODEL) puts(error.text);
  return 0;
}
