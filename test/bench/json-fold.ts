// The fold as anyone would write it first: JSON.parse of every frame, plain objects, changed in place. It loses digits
// and checks nothing; it is here to be measured against.

interface Region {
  name: string
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
  snapshot: Snapshot
  context: Snapshot
  delta: Omit<Snapshot, 'regions'> & { regions: Operation[] }
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
  batch: Body['calls'] = []
  points = 0

  /** Says whether the record made a point. */
  take(payload: Uint8Array): boolean {
    const [kind, body] = Object.entries(JSON.parse(decoder.decode(payload)))[0] as [string, Body]
    if (body.meta) this.meta = body.meta
    if (body.identity) this.identity = body.identity
    if (kind === 'InferenceUsage') this.usage.push(body)
    else if (kind === 'Message') this.messages.push(body.message)
    else if (kind === 'StatusChanged') this.meta = { ...this.meta, status: body.status }
    else if (kind === 'ToolBatch') this.batch = body.calls
    else if (kind === 'ToolCallDone') {
      const call = this.batch.find(({ id }) => id === body.call_id)
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
        if (region) Object.assign(region, { entries: [], current_tokens: 0 })
      } else {
        this.context.regions = regions.filter(({ name }) => name !== operation.Remove.name)
      }
    }
  }

  summary() {
    const { status, iteration } = this.meta
    const { regions, ...totals } = this.context
    const counts = regions.map(({ entries, ...region }) => ({ ...region, entries: entries?.length ?? 0 }))
    return { point: this.points - 1, at: this.at, status, iteration, ...totals, regions: counts }
  }
}
