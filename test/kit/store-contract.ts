import { afterAll, beforeAll, describe } from 'vitest'
import type { StorePorts } from '#store'
import { cardsContract } from './cards-contract.ts'
import { headsContract } from './heads-contract.ts'
import { objectsContract } from './objects-contract.ts'
import { sessionsContract } from './sessions-contract.ts'
import { tokensContract } from './tokens-contract.ts'
import { uploadsContract } from './uploads-contract.ts'

export interface OpenedPorts {
  readonly ports: StorePorts
  close?(): unknown
}

/** Every promise of ports.ts, held against one pair of adapters. `open` is called once; each test uses names of its own. */
export function storeContract(name: string, open: () => Promise<OpenedPorts>): void {
  describe(`the store contract on ${name}`, () => {
    let opened: OpenedPorts
    beforeAll(async () => {
      opened = await open()
    })
    afterAll(() => opened?.close?.())
    const ports = () => opened.ports

    objectsContract(ports)
    uploadsContract(ports)
    headsContract(ports)
    cardsContract(ports)
    tokensContract(ports)
    sessionsContract(ports)
  })
}
