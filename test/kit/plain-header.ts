/** A meta of the fields that none may lack, in the format's order. */
export const PLAIN_META = {
  run_id: 'r',
  agent_name: 'a',
  agent_path: '/a',
  task: 't',
  status: 'running',
  current_stage: 's',
  stage_index: 0,
  num_stages: 1,
  iteration: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  workdir: '/w',
  started_at: 1,
  updated_at: 1,
} as const

const IDENTITY = { run_id: 'r', machine_id: 'm', world_id: 'w', created_at: 1 }

/** A Header as JSON has it; what `meta` and `identity` leave out is ordinary. */
export const plainHeader = (meta: object = {}, identity: object = {}) => ({
  Header: { identity: { ...IDENTITY, ...identity }, meta: { ...PLAIN_META, ...meta } },
})
