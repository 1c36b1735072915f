/** Without the fields that have no value. */
export function given<T extends object>(fields: T): Given<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Given<T>
}

type Given<T> = { [field in keyof T]: Exclude<T[field], undefined> }
