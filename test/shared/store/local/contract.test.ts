import { openLocalStore } from '#store/local'
import { storeContract } from '../../../kit/store-contract.ts'
import { temporaryFolder } from '../../../kit/temporary-folder.ts'

storeContract('local', () => openLocalStore(temporaryFolder()))
