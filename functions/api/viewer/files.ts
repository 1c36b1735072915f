import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { builtViewer, type ViewerFile } from './built.ts'
import { bundleViewer } from './bundle.ts'

/** Where `npm run build:viewer` puts the files, beside package.json. */
export const VIEWER_FOLDER = 'dist-viewer'

/** The folder of package.json, wherever a bundler has put this code. */
export function packageRoot(from = dirname(fileURLToPath(import.meta.url))): string {
  const above = dirname(from)
  if (existsSync(join(from, 'package.json')) || above === from) return from
  return packageRoot(above)
}

/**
 * The viewer's files: made from the source where that is here, so that they are never stale; as built where it is not (an
 * installed package). None where neither is.
 */
export async function viewerFiles(root = packageRoot()): Promise<readonly ViewerFile[]> {
  if (existsSync(join(root, 'functions/viewer/main.tsx'))) {
    const made = await bundleViewer(root).catch(withoutBundler)
    if (made) return made
  }
  return builtViewer(join(root, VIEWER_FOLDER))
}

/** Development packages are not installed everywhere the source is. */
function withoutBundler(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
}
