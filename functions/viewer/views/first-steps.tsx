import type { JSX } from 'preact'

/** What to type where no run is stored yet. */
export function FirstSteps(): JSX.Element {
  const isHere = /^(localhost|127\.|\[::1\])/.test(location.hostname)
  const lines = [
    ...(location.origin === 'http://127.0.0.1:8080' ? [] : [`export RUNFOLD_URL=${location.origin}`]),
    `${isHere ? 'npm run -s cli --' : 'npx runfold'} demo run.lvr`,
    `${isHere ? 'npm run -s cli --' : 'npx runfold'} push run.lvr`,
    `${isHere ? 'npm run -s cli --' : 'npx runfold'} ls`,
  ]
  return (
    <div class="first-steps">
      <h2>No runs yet</h2>
      <p>Write a made-up run, push it, and it stands here:</p>
      <pre class="text code">{lines.join('\n')}</pre>
      <p class="help">
        {isHere
          ? 'In the folder of the server, in a second terminal. An installed runfold is called runfold.'
          : 'Set RUNFOLD_TOKEN to a token that may append.'}
      </p>
    </div>
  )
}
