import { adkRows } from './adk.ts';
import type { Session } from './format.ts';
import { goose } from './hub-sessions.ts';
import { agentsSession } from './openai-agents.ts';
import { opencodeRows } from './opencode.ts';
import { tinkerCapture } from './tinker-capture.ts';

/** A SQLite database of a known writer. */
export interface Database {
  /** Columns by table; it has all of them. */
  has: Readonly<Record<string, readonly string[]>>;
  /** Queries whose rows are read in turn. */
  queries: readonly string[];
  /** Rows are events of sessions; absent if each row is a rollout. */
  session?: Session;
}

/** Known databases, the most particular first. Trackio and rLLM's gateway use the same table. */
export const DATABASES: readonly Database[] = [
  { has: { traces: [] }, queries: ['select * from traces order by rowid'] },
  {
    has: { agent_messages: ['session_id', 'message_data'] },
    queries: ['select * from agent_messages order by session_id, id'],
    session: agentsSession,
  },
  {
    has: { session: ['id', 'title'], message: ['session_id', 'data'], part: ['message_id', 'data'] },
    queries: [
      "select 'session' as opencode, * from session order by time_created, id",
      "select 'message' as opencode, * from message order by time_created, id",
      "select 'part' as opencode, * from part order by id",
    ],
    session: opencodeRows,
  },
  {
    has: { sessions: ['id'], events: ['session_id', 'invocation_id', 'author', 'content'] },
    queries: ['select * from events order by app_name, user_id, session_id, timestamp'],
    session: adkRows,
  },
  {
    has: { wire_rows: ['cursor', 'run_id', 'prompt_tokens', 'sampled_tokens'] },
    queries: ['select * from wire_rows order by run_id, run_attempt, iteration, group_idx, traj_idx, cursor'],
    session: tinkerCapture,
  },
  {
    has: { sessions: ['id'], messages: ['session_id', 'role', 'content_json'] },
    queries: ['select * from messages order by session_id, id'],
    session: goose,
  },
];
