import * as z from 'zod'
import { type RecordsQuery, recordsAnswer, recordsQuery, runId } from '#schema'
import { type ArchiveView, recordsPage, recordsStream } from '#store'
import { answerJson, answerLines, NDJSON } from '../answer.ts'
import { refuseLimit, wantsLines } from '../lines.ts'
import { type Call, defineRoute, type Route, runOf } from '../route.ts'

/** Between two looks at a run whose next frame somebody waits for. */
const POLL_MS = 150

const list = defineRoute({
  method: 'GET',
  path: '/v1/runs/{run_id}/records',
  about: 'The frames as JSON: a page, or all of them as application/x-ndjson',
  need: 'read',
  params: z.object({ run_id: runId }),
  query: recordsQuery,
  answers: [{ status: 200, about: 'A page, or an item a line', schema: recordsAnswer, types: [NDJSON] }],
  problems: ['bad_request', 'unauthorized', 'forbidden', 'not_found'],
  handle: async (call) => {
    if (!wantsLines(call.headers))
      return answerJson(await firstItems(call), { stillAllowed: call.stillAllowed })
    refuseLimit(call.asked)
    if (call.query.wait_s) await firstItems({ ...call, query: { ...call.query, limit: 1 } })
    const view = await call.parts.archive.view(runOf(call))
    return answerLines(recordsStream(view, call.query), { stillAllowed: call.stillAllowed })
  },
})

/** A page; while it is empty, at most `wait_s` long, the head is looked at until the run has grown. */
async function firstItems(call: Call<unknown, RecordsQuery>) {
  const { archive, clock } = call.parts
  const { wait_s = 0 } = call.query
  if (wait_s === 0) return recordsPage(await archive.view(runOf(call)), call.query)
  const leaving = call.leaving()
  const deadline = clock.now() + wait_s * 1000
  for (let seen: ArchiveView | undefined; ; ) {
    const view = await archive.view(runOf(call))
    const grown = view.head.tail !== seen?.head.tail
    const page = grown ? await recordsPage(view, call.query) : NOTHING
    const left = deadline - clock.now()
    if (page.items.length > 0 || left <= 0 || leaving.aborted) return page
    seen = view
    await clock.sleep(Math.min(POLL_MS, left), leaving)
  }
}

const NOTHING = { items: [], next_cursor: null }

export const recordsRoutes: readonly Route[] = [list]
