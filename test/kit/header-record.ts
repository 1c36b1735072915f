import type { JournalRecord, RunMeta } from '#schema'

const META: RunMeta = {
  run_id: 'run',
  agent_name: 'agent',
  agent_path: '/home/old/agents/agent',
  task: 'a task',
  model: null,
  pid: 0,
  status: 'running',
  current_stage: 'build',
  stage_index: 0,
  num_stages: 1,
  iteration: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  cached_tokens: 0,
  cache_write_tokens: 0,
  tool_calls: 0,
  workdir: '/home/old/work',
  started_at: 1_790_000_000,
  updated_at: 1_790_000_000,
} as RunMeta

/** The Header a daemon begins a run with; what `meta` leaves out is ordinary. */
export const headerRecord = (meta: Partial<RunMeta> = {}): JournalRecord => {
  const whole = { ...META, ...meta }
  const { run_id, started_at } = whole
  const identity = { run_id, machine_id: 'machine', world_id: 'world', created_at: started_at }
  return { Header: { identity, meta: whole } }
}
