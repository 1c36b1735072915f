import { portsOf, startStandIns } from '../../../kit/stand-ins.ts'
import { storeContract } from '../../../kit/store-contract.ts'

storeContract('S3 and DynamoDB', async () => {
  const standIns = await startStandIns()
  const ports = portsOf(standIns)
  return {
    ports,
    close: async () => {
      ports.close()
      await standIns.stop()
    },
  }
})
