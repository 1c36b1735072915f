import { Stack } from 'aws-cdk-lib'
import type { Construct } from 'constructs'

/** Where the functions of a stage count; the stages of an account are told apart by it, since a dimension costs more. */
export const metricsNamespace = (at: Construct): string => Stack.of(at).stackName
