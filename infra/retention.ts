import { RetentionDays } from 'aws-cdk-lib/aws-logs'

const OFFERED = Object.values(RetentionDays)
  .filter((days): days is RetentionDays => typeof days === 'number' && days < RetentionDays.INFINITE)
  .sort((a, b) => a - b)

/** The shortest retention CloudWatch Logs offers that keeps at least so many days. */
export const retentionOf = (days: number): RetentionDays =>
  OFFERED.find((offered) => offered >= days) ?? RetentionDays.INFINITE
