#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# one_node.sh FOLDER COMMAND...: runs the command beside a Slurm of one node with two processors, of Debian's packages and
# without systemd. FOLDER gets its files and logs; its path has no blanks. Needs root.
set -euo pipefail
folder=$1
shift
PATH=$PATH:/usr/sbin
mkdir -p "$folder"/{munge,state,spool,log}
chmod 755 "$folder" # munged refuses folders that others may write to
host=$(hostname -s)
export SLURM_CONF=$folder/slurm.conf
cat >"$SLURM_CONF" <<END
ClusterName=tfaot
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd
SlurmctldPort=16817
SlurmdPort=16818
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SchedulerType=sched/backfill
NodeName=$host NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
stop() {
  local name
  for name in slurmd slurmctld munge/munged; do
    [[ ! -s $folder/$name.pid ]] || kill "$(cat "$folder/$name.pid")" 2>/dev/null || true
  done
}
trap stop EXIT
head -c 128 /dev/urandom >"$folder/munge/key"
chmod 600 "$folder/munge/key"
munged --force --key-file "$folder/munge/key" --socket "$folder/munge/socket" --pid-file "$folder/munge/munged.pid" \
  --log-file "$folder/log/munged" --seed-file "$folder/munge/seed"
slurmctld
slurmd
for ((second = 0; second < 60; ++second)); do
  [[ $(sinfo --noheader --format %T 2>/dev/null) != idle ]] || break
  sleep 1
done
"$@"
