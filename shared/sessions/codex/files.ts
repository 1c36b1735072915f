const ROLLOUT = /^rollout-[^/]*\.jsonl$/

/** The one rollout of a session. Were there several, each would be of another name: the first one is derived from. */
export function rolloutAmong(paths: Iterable<string>): string | undefined {
  return [...paths].filter((path) => ROLLOUT.test(path)).toSorted()[0]
}
