/** Faults of an engine in memory. Probabilities are from 0 to 1, durations are at most, in milliseconds. */
export type EngineFaults = Readonly<{
  /** Duration of each way of a question. */
  delayMs: number
  /** Probability that an append never arrives. */
  lostRequest: number
  /** Probability that an append arrives, and its answer does not. */
  lostAnswer: number
  /** Probability that an append arrives after its attempt has ended, perhaps after others. */
  late: number
  /** Probability that an append arrives a second time, later. */
  repeated: number
  /** Duration until late and repeated appends arrive. */
  lateMs: number
  /** Probability that a question has no answer. */
  unreadable: number
  /** Lag of the replica that answers a read. */
  lagMs: number
  /** Probability that a waiting reader gets no hint. */
  lostHint: number
  /** Probability that one writer does not hear what another tells. */
  lostTold: number
}>

export const NO_FAULTS: EngineFaults = {
  delayMs: 1,
  lostRequest: 0,
  lostAnswer: 0,
  late: 0,
  repeated: 0,
  lateMs: 0,
  unreadable: 0,
  lagMs: 0,
  lostHint: 0,
  lostTold: 0,
}

export const MANY_FAULTS: EngineFaults = {
  delayMs: 20,
  lostRequest: 0.08,
  lostAnswer: 0.1,
  late: 0.08,
  repeated: 0.08,
  lateMs: 8000,
  unreadable: 0.1,
  lagMs: 300,
  lostHint: 0.3,
  lostTold: 0.2,
}
