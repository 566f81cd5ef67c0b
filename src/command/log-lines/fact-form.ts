import type { LineField } from './line-fields.ts'

/** Levels of log lines, the gravest first. */
export const LINE_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug'] as const
export type LineLevel = (typeof LINE_LEVELS)[number]

/** Form of a fact in the table. */
export type Fact = Readonly<{
  level: LineLevel
  /** Message; `{name}` stands for a field, and `{name} event(s)` for `1 event` or `2 events`. */
  text: string
  fields: readonly LineField[]
  /** Fields that a line may lack. */
  optional?: readonly LineField[]
  /** Fields that the message says in another form. A terminal does not show them again. */
  said?: readonly LineField[]
}>
