/** The command cannot be carried out as it was given; its text is all that is shown, and the exit code is EXIT.usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
