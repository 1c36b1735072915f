import { systemClock } from '#store'
import { memoryPorts } from '#store/memory'
import { storeContract } from '../../../kit/store-contract.ts'

storeContract('memory', async () => ({ ports: memoryPorts(systemClock) }))
