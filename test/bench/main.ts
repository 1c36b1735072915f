import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { appendBench } from './append.ts'
import { capacityBench } from './capacity.ts'
import { chaosBench } from './chaos.ts'
import { coldStartBench } from './cold-start.ts'
import { costBench } from './cost.ts'
import type { Figures } from './figures.ts'
import { foldBench } from './fold.ts'
import { followBench } from './follow.ts'
import { giantBench } from './giant.ts'
import { growthBench } from './growth.ts'
import { listBench } from './list.ts'
import { peersBench } from './peers.ts'
import { pipelineBench } from './pipeline.ts'
import { pushBench } from './push.ts'
import { sessionsBench } from './sessions.ts'
import { stateAtBench } from './state-at.ts'
import { viewerBench } from './viewer.ts'
import { watchBench } from './watch.ts'

/** `npm run bench -- [NAME…] [--short] [--json]`: ratios measured side by side in one run; the last line of `--json` is a flat object. */
const BENCHES: Record<string, (log: (line: string) => void, isShort: boolean) => Promise<Figures>> = {
  fold: foldBench,
  append: appendBench,
  cost: costBench,
  growth: growthBench,
  giant: giantBench,
  'state-at': stateAtBench,
  watch: watchBench,
  sessions: sessionsBench,
  list: listBench,
  push: pushBench,
  pipeline: pipelineBench,
  follow: followBench,
  peers: peersBench,
  chaos: chaosBench,
  viewer: viewerBench,
  'cold-start': coldStartBench,
  capacity: capacityBench,
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: 'boolean' }, short: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } },
})

const unknown = positionals.filter((name) => !(name in BENCHES))
if (values.help || unknown.length > 0) {
  console.log(`npm run bench -- [NAME…] [--short] [--json]\n\nbenches: ${Object.keys(BENCHES).join(', ')}`)
  if (unknown.length > 0) console.error(`no such bench: ${unknown.join(', ')}`)
  process.exit(unknown.length > 0 ? 2 : 0)
}

const all: Record<string, Figures> = {}
mkdirSync('dist/bench', { recursive: true })
for (const name of positionals.length > 0 ? positionals : Object.keys(BENCHES)) {
  const figures = (await BENCHES[name]?.((line) => console.error(line), values.short === true)) ?? {}
  all[name] = figures
  writeFileSync(`dist/bench/${name}.json`, `${JSON.stringify(figures, null, 2)}\n`)
}
writeFileSync('dist/bench/all.json', `${JSON.stringify(all, null, 2)}\n`)
if (values.json) console.log(JSON.stringify(Object.assign({}, ...Object.values(all))))
else printTable(all)

/** One table of everything that was measured. */
function printTable(measured: Readonly<Record<string, Figures>>): void {
  const rows = Object.entries(measured).flatMap(([bench, figures]) =>
    Object.entries(figures).map(([figure, value]) => [bench, figure, String(value)] as const),
  )
  const width = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length))
  for (const [bench, figure, value] of rows)
    console.log(`${bench.padEnd(width(0))}  ${figure.padEnd(width(1))}  ${value}`)
}
