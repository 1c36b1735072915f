import type { RunMeta } from '#schema'

/** How paths of the machine that had the run are named here. */
export interface PathRule {
  readonly field: 'workdir' | 'agent_path'
  /** A path, or the folder it is in; undefined stands for whatever is there. */
  readonly from: string | undefined
  readonly to: string
}

/** The meta with the first rule that fits each path; paths in it are absolute ones of another machine (LVR1.md 5.3). */
export const withPaths = (meta: RunMeta, rules: readonly PathRule[]): RunMeta => {
  const mapped = (field: PathRule['field']) => {
    for (const rule of rules) {
      const path = rule.field === field ? mapPath(meta[field], rule) : undefined
      if (path !== undefined) return path
    }
    return meta[field]
  }
  return { ...meta, workdir: mapped('workdir'), agent_path: mapped('agent_path') }
}

const mapPath = (path: string, { from, to }: PathRule): string | undefined => {
  if (from === undefined || path === from) return to
  const folder = from.endsWith('/') ? from : `${from}/`
  return path.startsWith(folder) ? `${to.replace(/\/$/, '')}/${path.slice(folder.length)}` : undefined
}
