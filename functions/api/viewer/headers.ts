/**
 * What the viewer's page may do: run its own script, show its own style, ask its own server, and nothing else. Transcripts
 * are strangers' text: with this policy no markup in them could load or send anything even if some code forgot to treat it
 * as text (Trusted Types refuse `innerHTML`). Every server of the viewer sends these headers, CloudFront too.
 */
export const VIEWER_HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}
