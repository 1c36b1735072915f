import type { RunKey } from '../../schema/index.ts'
import type { OpenParts, StorePorts, UploadRecord } from '../ports.ts'

// What nobody completes costs storage without being seen, so every upload is written down when it is opened, and taken
// back from that list: those of clients, and those by which this server stores large objects.

/** Uploads looked at in one pass of maintenance. */
const UPLOADS_A_PASS = 100

/** Forgets the uploads whose time is over. Yields what failed; the next pass tries again. */
export async function* abortExpired(ports: StorePorts, now: number): AsyncGenerator<unknown> {
  for (const upload of await ports.uploadIndex.expired(now, UPLOADS_A_PASS)) {
    try {
      await forget(ports, upload)
    } catch (error) {
      yield error
    }
  }
}

/** For a run that was deleted. Somebody may be making it again right now, and what that life uploads stays. */
export async function abortAll(
  ports: StorePorts,
  run: RunKey,
  ended: { readonly life: number },
): Promise<void> {
  for (const upload of await ports.uploadIndex.ofRun(run)) {
    if (upload.life <= ended.life) await forget(ports, upload)
  }
}

/** The record goes last, so that a failure before it is repeated. */
async function forget({ uploads, uploadIndex }: StorePorts, upload: UploadRecord | OpenParts): Promise<void> {
  await uploads.abort(upload)
  if ('upload_id' in upload) await uploadIndex.remove(upload.run, upload.upload_id)
  else await uploadIndex.removeParts(upload)
}
