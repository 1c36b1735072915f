/** Names that the functions and the stack must agree on. */

/** How the distribution shows that a request came through it. */
export const ORIGIN_SECRET_HEADER = 'x-runfold-origin'

/** The namespace of our own metrics. */
export const METRICS_NAMESPACE = 'runfold'
