import { parentPort } from 'node:worker_threads'
import { type Effort, playScenario } from './play.ts'

/** Plays what it is told to, one scenario after the other, beside the others of main.ts. */
parentPort?.on('message', async ({ name, effort }: { name: string; effort: Effort }) => {
  try {
    const { size } = await playScenario(name, effort)
    parentPort?.postMessage({ schedules: size })
  } catch (error) {
    parentPort?.postMessage({ failure: (error as Error).message })
  }
})
