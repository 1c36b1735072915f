import { parseJson } from '../codec/index.ts'
import { type Facts, type Json, PROBLEMS, type ProblemCode, problem, RunfoldError } from '../schema/index.ts'

/** What the members of a problem say about the request itself; everything else is a fact. */
const ENVELOPE = new Set(['type', 'title', 'status', 'detail', 'code'])

/** The error that a refused answer stands for (API.md, Problems), with its facts and `request_id`. Reads the body. */
export const refusal = async (response: Response): Promise<RunfoldError> => {
  const text = await response.text()
  return problemOf(response, text) ?? foreign(response)
}

const problemOf = (response: Response, text: string): RunfoldError | undefined => {
  if (!mediaType(response).endsWith('/problem+json')) return
  const body = readJson(text)
  const known = problem.safeParse(body)
  if (!known.success) return
  const facts = Object.fromEntries(Object.entries(known.data).filter(([name]) => !ENVELOPE.has(name)))
  return new RunfoldError(known.data.code, known.data.detail, { ...retryAfter(response), ...facts })
}

/** A HEAD answer has no body to say more than its status; of the codes that share 503 the one that claims less. */
export const refusalOfHead = (response: Response): RunfoldError => {
  const codes = Object.keys(PROBLEMS) as ProblemCode[]
  const matching = codes.filter((code) => PROBLEMS[code].status === response.status)
  const code = matching.includes('unavailable') ? 'unavailable' : matching[0]
  return code ? new RunfoldError(code, PROBLEMS[code].title, retryAfter(response)) : foreign(response)
}

/** Something between us and the server answered, or it is no runfold server at all. */
const foreign = (response: Response): RunfoldError => {
  const gateway = response.status === 429 || (response.status >= 502 && response.status <= 504)
  const to = response.headers.get('location')
  const place = to === null ? '' : ` and the way to ${to}`
  const text = `${response.url || 'the server'} answered ${response.status}${place}, which is no answer of a runfold server`
  const facts = { ...retryAfter(response), http_status: response.status, foreign: true }
  return new RunfoldError(gateway ? 'unavailable' : 'internal', text, facts)
}

/** Whole seconds of a Retry-After header; its date form is not used by the server. */
const retryAfter = (response: Response): Facts => {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? { retry_after_s: seconds } : {}
}

const mediaType = (response: Response): string =>
  (response.headers.get('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''

const readJson = (text: string): Json | undefined => {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}
