import * as z from 'zod'
import { type RecordsQuery, recordsAnswer, recordsQuery, runId } from '#schema'
import { recordsPage, recordsStream } from '#store'
import { answerJson, answerLines, NDJSON } from '../answer.ts'
import { refuseLimit, wantsLines } from '../lines.ts'
import { type Call, defineRoute, type Route, runOf } from '../route.ts'

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

/** A page; where it is empty, waits at most `wait_s` long for a run that grows, together with all who follow it. */
async function firstItems(call: Call<unknown, RecordsQuery>) {
  const { archive, clock } = call.parts
  const { wait_s = 0 } = call.query
  const leaving = wait_s > 0 ? call.leaving() : undefined
  const deadline = clock.now() + wait_s * 1000
  for (let view = await archive.view(runOf(call)); ; ) {
    const page = await recordsPage(view, call.query)
    if (page.items.length > 0) return page
    for (const seen = view; view === seen; view = await archive.next(view)) {
      if (clock.now() >= deadline || leaving?.aborted) return page
    }
  }
}

export const recordsRoutes: readonly Route[] = [list]
