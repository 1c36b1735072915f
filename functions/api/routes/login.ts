import { loginAnswer, loginRequest } from '#schema'
import { answerJson } from '../answer.ts'
import type { Login } from '../login.ts'
import { defineRoute, type Route } from '../route.ts'

/** Of the local server only, which printed the code. */
export const loginRoutes = (login: Login | undefined): readonly Route[] =>
  login === undefined
    ? []
    : [
        defineRoute({
          method: 'POST',
          path: '/v1/login',
          about: 'A short-lived token for the one-time code of the printed link; local servers only',
          need: 'nothing',
          json: loginRequest,
          answers: [{ status: 200, about: 'The token', schema: loginAnswer }],
          problems: ['bad_request', 'unauthorized', 'too_large', 'unsupported_media_type'],
          handle: async ({ body }) => answerJson(await login.exchange(body.code)),
        }),
      ]
