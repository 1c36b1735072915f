// The fold as anyone would write it first: JSON.parse of every frame, plain objects, changed in place. It loses digits
// and checks nothing; it is here to be measured against.

interface Entry {
  kind: { tool_calls?: { id: string }[] }
}

interface Region {
  name: string
  kind: string
  max_tokens: number
  entries?: unknown[]
  current_tokens: number
}

interface Snapshot {
  stage_name: string
  total_tokens: number
  max_tokens: number
  regions: Region[]
}

type Operation =
  | { Set: Region }
  | { Append: { name: string; entries: unknown[]; current_tokens: number } }
  | { Clear: { name: string } }
  | { Remove: { name: string } }

interface Body {
  meta: { status: string; iteration: number }
  identity: object
  machine_id: string
  world_id: string
  snapshot: Snapshot
  context: Snapshot
  delta: Omit<Snapshot, 'regions'> & { regions: Operation[] }
  stage_index: number
  iteration: number
  response: string
  calls: { id: string; result: string | null }[]
  call_id: string
  result: string
  status: string
  message: object
  at: number
}

const decoder = new TextDecoder()

export class JsonFold {
  meta: Body['meta'] = { status: '', iteration: 0 }
  context: Snapshot = { stage_name: '', total_tokens: 0, max_tokens: 0, regions: [] }
  at = 0
  identity: object = {}
  readonly messages: object[] = []
  readonly usage: object[] = []
  batch: Pick<Body, 'stage_index' | 'iteration' | 'response' | 'calls'> | null = null
  inferences = 0
  toolCalls = 0
  points = 0

  /** Says whether the record made a point. */
  take(payload: Uint8Array): boolean {
    const [kind, body] = Object.entries(JSON.parse(decoder.decode(payload)))[0] as [string, Body]
    if (body.meta) this.meta = body.meta
    if (body.identity) this.identity = body.identity
    if (kind === 'OwnershipChanged') {
      const { machine_id, world_id } = body
      this.identity = { ...this.identity, machine_id, world_id }
    }
    if (kind === 'Inference') this.inferences++
    else if (kind === 'InferenceUsage') {
      this.inferences++
      this.usage.push(body)
    } else if (kind === 'Message') this.messages.push(body.message)
    else if (kind === 'StatusChanged') this.meta = { ...this.meta, status: body.status }
    else if (kind === 'ToolBatch') {
      const { stage_index, iteration, response, calls } = body
      this.batch = { stage_index, iteration, response, calls }
      this.toolCalls += calls.length
    } else if (kind === 'ToolCallDone' && body.iteration === this.batch?.iteration) {
      const call = this.batch.calls.find(({ id }) => id === body.call_id)
      if (call) call.result = body.result
    }
    const snapshot = body.snapshot ?? body.context
    if (snapshot) this.context = snapshot
    if (body.delta) this.#apply(body.delta)
    if (!snapshot && !body.delta) return false
    this.at = body.at
    this.points++
    return true
  }

  #apply({ regions: operations, ...totals }: Body['delta']): void {
    Object.assign(this.context, totals)
    const { regions } = this.context
    const first = (name: string) => regions.findIndex((region) => region.name === name)
    for (const operation of operations) {
      if ('Set' in operation) {
        const at = first(operation.Set.name)
        regions[at < 0 ? regions.length : at] = operation.Set
      } else if ('Append' in operation) {
        const region = regions[first(operation.Append.name)]
        if (!region) continue
        region.entries = [...(region.entries ?? []), ...operation.Append.entries]
        region.current_tokens = operation.Append.current_tokens
      } else if ('Clear' in operation) {
        const region = regions[first(operation.Clear.name)]
        if (region) Object.assign(region, { entries: undefined, current_tokens: 0 })
      } else {
        this.context.regions = regions.filter(({ name }) => name !== operation.Remove.name)
      }
    }
  }

  /** All that the records amount to, as JSON. */
  answer(): string {
    return JSON.stringify({
      identity: this.identity,
      meta: this.meta,
      context: this.context,
      messages: this.messages,
      inference_count: this.inferences,
      tool_call_count: this.toolCalls,
      inference_usage: this.usage,
      pending_batch: this.#isPending() ? this.batch : null,
    })
  }

  #isPending(): boolean {
    if (this.batch?.iteration !== this.meta.iteration) return false
    const first = this.batch.calls[0]?.id
    const shown = this.context.regions.flatMap(({ entries = [] }) => entries as Entry[])
    return !shown.some(({ kind }) => kind.tool_calls?.some(({ id }) => id === first))
  }

  summary(seq: number) {
    const { status, iteration } = this.meta
    const { stage_name, total_tokens, max_tokens } = this.context
    const regions = this.context.regions.map(({ name, kind, current_tokens, max_tokens, entries }) => ({
      name,
      kind,
      current_tokens,
      max_tokens,
      entries: entries?.length ?? 0,
    }))
    const place = { point: this.points - 1, seq, at: this.at }
    return { ...place, status, iteration, stage_name, total_tokens, max_tokens, regions }
  }
}
