import type { Command } from 'commander';

/** The verbs, in the order of --help. A verb's file is loaded on demand: `ls` must not wait for the sandbox. */
export const VERBS: Readonly<Record<string, () => Promise<Command>>> = {
  ls: async () => (await import('./ls.ts')).lsCommand(),
  show: async () => (await import('./show.ts')).showCommand(),
  grep: async () => (await import('./grep.ts')).grepCommand(),
  stats: async () => (await import('./stats.ts')).statsCommand(),
  errors: async () => (await import('./errors.ts')).errorsCommand(),
  audit: async () => (await import('./audit.ts')).auditCommand(),
  groups: async () => (await import('./groups.ts')).groupsCommand(),
  matrix: async () => (await import('./matrix.ts')).matrixCommand(),
  incidents: async () => (await import('./incidents.ts')).incidentsCommand(),
  movement: async () => (await import('./movement.ts')).movementCommand(),
  compare: async () => (await import('./compare.ts')).compareCommand(),
  facts: async () => (await import('./facts.ts')).factsCommand(),
  sql: async () => (await import('./sql.ts')).sqlCommand(),
  triage: async () => (await import('./triage.ts')).triageCommand(),
  label: async () => (await import('./label.ts')).labelCommand(),
  judge: async () => (await import('./judge.ts')).judgeCommand(),
  labels: async () => (await import('./labels.ts')).labelsCommand(),
  signal: async () => (await import('./signal.ts')).signalCommand(),
  files: async () => (await import('./files.ts')).filesCommand(),
  set: async () => (await import('./set.ts')).setCommand(),
  export: async () => (await import('./export.ts')).exportCommand(),
  replay: async () => (await import('./replay.ts')).replayCommand(),
  state: async () => (await import('./state.ts')).stateCommand(),
  fork: async () => (await import('./fork.ts')).forkCommand(),
  rescore: async () => (await import('./rescore.ts')).rescoreCommand(),
  rollout: async () => (await import('./rollout.ts')).rolloutCommand(),
  record: async () => (await import('./record.ts')).recordCommand(),
  worker: async () => (await import('./worker.ts')).workerCommand(),
  queue: async () => (await import('./queue.ts')).queueCommand(),
  sandbox: async () => (await import('./sandbox.ts')).sandboxCommand(),
  doctor: async () => (await import('./doctor.ts')).doctorCommand(),
  mcp: async () => (await import('./mcp.ts')).mcpCommand(),
  retrieve: async () => (await import('./retrieve.ts')).retrieveCommand(),
  completion: async () => (await import('./completion.ts')).completionCommand(tree),
  manual: async () => (await import('./manual.ts')).manualCommand(tree),
};

/** All commands as data. */
const tree = async () => (await import('./command-tree.ts')).commandTree(Object.values(VERBS));
