import * as z from 'zod'

// The Content-Security-Policy allows no `eval`; zod would try it, and the try alone is reported as a violation. This is
// imported before the first schema is made.
z.config({ jitless: true })
