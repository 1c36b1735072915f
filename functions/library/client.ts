// runfold/client: the REST API (docs/RESUME.md) as functions. Needs `fetch` and nothing else.

export * from '#client'
export {
  type AppendAnswer,
  type Capabilities,
  type Facts,
  isRunfoldError,
  type LeaseAnswer,
  PROBLEMS,
  type ProblemCode,
  type RecordItem,
  RunfoldError,
  type Worker,
} from '#schema'
