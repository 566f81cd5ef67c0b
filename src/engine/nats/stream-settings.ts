import { isDeepStrictEqual } from 'node:util'
import { MESSAGE_BYTES_MAX } from '../log-engine.ts'
import { commitsSubject, streamName } from './nats-names.ts'

/** Bytes for the headers of a message, which count towards `max_msg_size` and `max_payload`. */
const HEADER_BYTES_MAX = 4_096

/** Smallest `max_payload` of a broker: the largest message with its headers. */
export const PAYLOAD_BYTES_MIN: number = MESSAGE_BYTES_MAX + HEADER_BYTES_MAX

const NANOS_OF_SECOND = 1_000_000_000

/** The configuration of a stream, whole. `inspect` compares every setting with it. */
export function expectedConfig(stream: number): Readonly<Record<string, unknown>> {
  return {
    name: streamName(stream),
    subjects: [commitsSubject(stream)],
    storage: 'file',
    num_replicas: 3,
    retention: 'limits',
    discard: 'new',
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_bytes: -1,
    max_age: 0,
    max_msg_size: PAYLOAD_BYTES_MIN,
    max_consumers: -1,
    first_seq: 1,
    // No message has an id, so nothing is ever a duplicate.
    duplicate_window: 120 * NANOS_OF_SECOND,
    compression: 'none',
    allow_direct: true,
    deny_delete: true,
    deny_purge: true,
  }
}

/** Settings that change nothing for the log: the operator may choose them. */
const FREE: readonly string[] = ['metadata', 'description', 'placement', 'consumer_limits']

/**
 * Differences between a configuration and the expected one, one sentence each. A setting that neither knows, such as one
 * of a newer broker, must be off: false, 0, empty or absent.
 */
export function configFaults(stream: number, config: Readonly<Record<string, unknown>>): readonly string[] {
  const expected = expectedConfig(stream)
  const names = new Set([...Object.keys(expected), ...Object.keys(config)])
  return [...names]
    .filter((name) => !FREE.includes(name))
    .filter((name) => !isSame(name, config[name], expected[name]))
    .map((name) => {
      const wanted = name in expected ? JSON.stringify(expected[name]) : 'off'
      return `the stream ${streamName(stream)} has ${name} ${JSON.stringify(config[name])}: it must be ${wanted}`
    })
}

function isSame(name: string, value: unknown, expected: unknown): boolean {
  // `default` is what a broker may write for a stream that acknowledges after its sync; the other mode is `async`.
  if (name === 'persist_mode') return value === undefined || value === 'default'
  // Absent and 0 mean 1.
  if (name === 'first_seq') return value === undefined || value === 0 || value === 1
  return isDeepStrictEqual(value, expected) || (isOff(value) && isOff(expected))
}

function isOff(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === undefined || value === null || value === false || value === 0 || value === ''
}
