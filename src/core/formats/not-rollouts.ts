import { isJsonObject, type JsonObject } from '../json/value.ts';

interface OtherFile {
  says: string;
  /** The first line of a file whose other lines are rollouts. */
  isHead?: true;
  is(record: JsonObject): boolean;
}

/** Files that writers leave beside their rollouts, with the writer of each. */
const KNOWN: readonly OtherFile[] = [
  {
    says: "an index of prime-rl's stream, one row per episode; the rollouts lie in the stream beside it",
    is: (record) => Array.isArray(record.trace_ids) && record.offset !== undefined,
  },
  {
    says: 'annotations of prime-rl, which are laid onto the traces of the stream beside them; name the folder that holds both',
    is: (record) => record.trace_id !== undefined && Array.isArray(record.branches),
  },
  {
    says: 'an index of annotations of prime-rl; the rollouts lie in the stream beside it',
    is: (record) => record.trace_id !== undefined && record.offset !== undefined,
  },
  {
    says: 'an episode that prime-rl has dispatched and that has no trace yet',
    is: (record) =>
      record.kind !== undefined &&
      record.env !== undefined &&
      record.started !== undefined &&
      record.task !== undefined &&
      record.traces === undefined,
  },
  {
    says: 'the list of segments of a token store; the rollouts lie in segments/ beside it',
    is: (record) => record.n_rows !== undefined && record.writer_id !== undefined && record.path !== undefined,
  },
  {
    says: 'the head of a token store; the rollouts lie in segments/ beside it',
    is: (record) => record.run_attempt !== undefined && record.writer_id !== undefined && isJsonObject(record.context),
  },
  {
    says: "metrics of SkyRL's evaluation; the rollouts lie in the files beside it",
    is: (record) => Object.keys(record).length > 0 && Object.keys(record).every((key) => /^eval\//.test(key)),
  },
  {
    says: "the summary of a batch of rLLM's episodes; the rollouts lie in the episodes beside it",
    is: (record) => Array.isArray(record.episode_files),
  },
  {
    says: 'the head of an evaluation of rLLM; the rollouts lie in episodes/ beside it',
    is: (record) =>
      record.dataset !== undefined &&
      record.agent !== undefined &&
      record.timestamp !== undefined &&
      Object.keys(record).length < 8,
  },
  {
    says: 'the results of an evaluation of rLLM; the rollouts lie in episodes/ beside it',
    is: (record) => record.dataset_name !== undefined && Array.isArray(record.items),
  },
  {
    says: "the head of open-instruct's rollouts; they lie in the files …_rollouts_N.jsonl beside it",
    is: (record) => record.run_name !== undefined && record.git_commit !== undefined && record.model_name !== undefined,
  },
  {
    says: 'the head of an evaluation of verifiers; the rollouts lie in results.jsonl beside it',
    is: (record) => (record.env !== undefined || record.env_id !== undefined) && record.num_examples !== undefined,
  },
  {
    says: 'the task of a subagent of Claude Code; its session is beside it',
    is: (record) =>
      record.agentType !== undefined &&
      (record.spawnDepth !== undefined || record.toolUseId !== undefined || Object.keys(record).length < 6),
  },
  {
    says: 'tasks and settings of tau2-bench; its simulations, if any has ended, lie in simulations/ beside it',
    is: (record) => Array.isArray(record.tasks) && record.simulations === undefined && isJsonObject(record.info),
  },
  {
    says: 'verdicts on rollouts of NeMo-Gym; those lie in the file of rollouts beside it',
    is: (record) => record._ng_task_index !== undefined && record.verdict !== undefined,
  },
  {
    says: "figures of NeMo-Gym's tasks over their rollouts; those lie in the file of rollouts beside it",
    is: (record) => record['mean/reward'] !== undefined && record.responses_create_params === undefined,
  },
  {
    says: "the settings of a job or a trial of Harbor; the rollout is the trial's folder",
    is: (record) =>
      (record.trials_dir !== undefined || record.jobs_dir !== undefined || record.n_total_trials !== undefined) &&
      record.verifier_result === undefined,
  },
  {
    says: 'metrics of a Trackio project; the rollouts lie in the table `traces`',
    is: (record) =>
      record.run_name !== undefined &&
      (record.metrics !== undefined ||
        record.config !== undefined ||
        (record.timestamp !== undefined && record.messages === undefined && record.step !== undefined)),
  },
  {
    says: "a Trackio project's settings; the rollouts lie in the table `traces`",
    is: (record) => record.run_name !== undefined && record.created_at !== undefined && record.messages === undefined,
  },
  {
    says: 'the head of a trace of MLflow; its spans lie in artifacts/traces.json below its folder',
    is: (record) =>
      (record.trace_metadata !== undefined || record.request_metadata !== undefined) &&
      (record.state !== undefined || record.status !== undefined) &&
      record.spans === undefined,
  },
  {
    says: 'the head of a run or an experiment of MLflow; the rollouts lie in its artifacts and traces',
    is: (record) =>
      record.lifecycle_stage !== undefined &&
      (record.artifact_uri !== undefined || record.artifact_location !== undefined),
  },
  {
    says: "figures of BFCL's score file, whose other lines are the failures alone: their mean is no accuracy",
    isHead: true,
    is: (record) =>
      record.accuracy !== undefined && record.correct_count !== undefined && record.total_count !== undefined,
  },
  {
    says: 'predictions of SWE-agent; the rollouts lie in the .traj files beside it',
    is: (record) =>
      Object.values(record).length > 0 &&
      Object.values(record).every((one) => isJsonObject(one) && one.model_patch !== undefined),
  },
];

/** A placeholder for a file of another machine that has not arrived yet. */
export const isPlaceholder = (record: JsonObject): boolean => typeof record[PENDING] === 'string';

/** Whether rollouts may follow in the same file. */
export const isHeadLine = (record: JsonObject): boolean => KNOWN.some(({ is, isHead }) => isHead && is(record));

/** The kind of a record that is not a rollout, and its writer; null if unknown. */
export const notRollout = (record: JsonObject): string | null =>
  typeof record[PENDING] === 'string' ? record[PENDING] : (KNOWN.find(({ is }) => is(record))?.says ?? null);

/** A file of another machine that was not fetched yet says so in the only key of its only line. */
const PENDING = 'rollout_viewer_pending';
