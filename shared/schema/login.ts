import * as z from 'zod'
import { serverTime } from './name.ts'

export const loginRequest = z.strictObject({ code: z.string().max(200) })
export const loginAnswer = z.object({ token: z.string(), expires_at: serverTime })

export type LoginAnswer = z.infer<typeof loginAnswer>
