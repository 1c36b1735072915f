import { type Fault, seededFaults, startFaultProxy } from '../kit/fault-proxy.ts'
import { startStandIns } from '../kit/stand-ins.ts'

// A process of its own: S3 and DynamoDB stand-ins that forget nothing while servers come and go, behind proxies that lose,
// repeat, delay and break off a share of the requests. Prints where they are as a line of JSON.

const SEED = Number(process.env.CHAOS_SEED)
const RATE = 0.02
/** 409 of S3 is no weather: the SDK takes it for an answer. */
const WEATHER: readonly Fault[] = [
  'drop_answer',
  'drop_request',
  'cut_answer',
  'error_before',
  'error_after',
  'slow_down',
  'duplicate',
  'delay',
]

const standIns = await startStandIns()
const s3 = await startFaultProxy(standIns.s3, seededFaults(SEED, RATE, WEATHER))
const dynamodb = await startFaultProxy(standIns.dynamodb, seededFaults(SEED + 1, RATE, WEATHER))
process.stdout.write(`${JSON.stringify({ s3: s3.endpoint, dynamodb: dynamodb.endpoint })}\n`)
