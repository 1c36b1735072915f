import type { Feature } from '#schema'
import type { Login } from '../login.ts'
import type { Route } from '../route.ts'
import { archiveRoutes } from './archive.ts'
import { claimsRoutes } from './claims.ts'
import { diffRoutes } from './diff.ts'
import { eventsRoutes } from './events.ts'
import { foldRoutes } from './fold.ts'
import { forkRoutes } from './fork.ts'
import { framesRoutes } from './frames.ts'
import { leaseRoutes } from './lease.ts'
import { loginRoutes } from './login.ts'
import { pointsRoutes } from './points.ts'
import { recordsRoutes } from './records.ts'
import { runsRoutes } from './runs.ts'
import { serviceRoutes } from './service.ts'
import { sessionFilesRoutes } from './session-files.ts'
import { sessionsRoutes } from './sessions.ts'
import { tokensRoutes } from './tokens.ts'
import { uploadsRoutes } from './uploads.ts'
import { usageRoutes } from './usage.ts'
import { verifyRoutes } from './verify.ts'

/** Every route of the features that are offered; those of an absent feature do not exist (API.md). */
export function allRoutes(features: readonly Feature[], login?: Login): readonly Route[] {
  const routes: readonly Route[] = [
    ...serviceRoutes(() => offered),
    ...leaseRoutes,
    ...framesRoutes,
    ...uploadsRoutes,
    ...runsRoutes,
    ...archiveRoutes,
    ...recordsRoutes,
    ...eventsRoutes,
    ...foldRoutes,
    ...pointsRoutes,
    ...diffRoutes,
    ...forkRoutes,
    ...claimsRoutes,
    ...usageRoutes,
    ...verifyRoutes,
    ...sessionsRoutes,
    ...sessionFilesRoutes,
    ...tokensRoutes,
    ...loginRoutes(login),
  ]
  const offered = routes.filter((route) => !route.feature || features.includes(route.feature))
  return offered
}
