/** Why a file of a session is not read. */
export class LeftOut extends Error {}
