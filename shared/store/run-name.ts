import type { RunKey } from '../schema/index.ts'

/** A run's name among all tenants', for what a process keeps by run: neither a tenant nor a run_id holds a slash. */
export const runName = ({ tenant, run_id }: RunKey): string => `${tenant}/${run_id}`
