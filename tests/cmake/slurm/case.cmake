# SPDX-License-Identifier: Apache-2.0
# Each model is one job of a real Slurm.
execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT user EQUAL 0)
  message(STATUS "skipped: slurmd needs root")
  return()
endif()
case_needs_plain_folder()
case_configure()
case_execute("build" COMMAND "${CASE_SOURCE}/one_node.sh" "${CASE_BINARY}/slurm"
             "${CMAKE_COMMAND}" --build "${CASE_BINARY}/build" --parallel 4)
file(STRINGS "${CASE_BINARY}/slurm/log/slurmctld" jobs REGEX "_job_complete: JobId=[0-9]+ done")
list(LENGTH jobs count)
if(NOT count EQUAL 4)
  file(READ "${CASE_BINARY}/slurm/log/slurmctld" log)
  message(FATAL_ERROR "${count} jobs, should be 4:\n${log}")
endif()
case_run(minimal)
case_expect_predictions(native minimal 3)
