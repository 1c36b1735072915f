import * as z from 'zod'
import { digest, queryInt, serverTime, size } from './name.ts'

/** Parts of one direct upload at most: the answer that names their URLs and the request that names their ETags stay small. */
export const UPLOAD_PARTS_MAX = 1000

export const uploadRequest = z.strictObject({
  epoch: size,
  offset: size,
  length: z.int().min(1),
  sha256: digest,
})

export const uploadId = z.string().regex(/^[A-Za-z0-9_-]{1,128}$/)
export const partNumber = z.int().min(1).max(UPLOAD_PARTS_MAX)

/** `start` and `end` are relative to the batch, `end` exclusive; a relative `url` is one of this server. */
export const uploadPart = z.object({ part_number: partNumber, url: z.string(), start: size, end: size })

export const uploadAnswer = z.object({
  upload_id: uploadId,
  part_bytes: size,
  parts: z.array(uploadPart),
  /** When the URLs end; completing is possible for a good while longer. */
  expires_at: serverTime,
})

/** The ETag as the PUT of the part answered it. */
const storedPart = z.strictObject({ part_number: partNumber, etag: z.string().min(1).max(256) })

export const completeRequest = z.strictObject({ parts: z.array(storedPart).min(1).max(UPLOAD_PARTS_MAX) })

/** Where a part goes on a server that keeps parts itself; what the signature covers is spelled here and nowhere else. */
export const partPath = (storage_id: string, part_number: string | number): `/v1/${string}` =>
  `/v1/parts/${storage_id}/${part_number}`

export const partParams = z.object({
  storage_id: uploadId,
  part_number: z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/)
    .transform(Number),
})

/** `expires` is in milliseconds since 1970. */
export const partQuery = z.strictObject({
  length: queryInt,
  expires: queryInt,
  signature: z.string().regex(/^[0-9a-f]{64}$/),
})

export type UploadRequest = z.infer<typeof uploadRequest>
export type UploadPart = z.infer<typeof uploadPart>
export type UploadAnswer = z.infer<typeof uploadAnswer>
export type CompleteRequest = z.infer<typeof completeRequest>
