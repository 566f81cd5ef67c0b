import type { Parameter } from './parameters.ts'

/** How an answer may be kept: decided per answer where it depends on the parameters. */
export type Caching = 'immutable' | 'revalidate' | 'by-range' | 'never'

/** A row of the table of endpoints. */
export type Endpoint = Readonly<{
  id: string
  /** `{name}` is one segment of it, `{name...}` (last only) one or more. */
  path: string
  /** Name of the answer's type in `resources`, or the media type of a file. */
  answer: string
  caching: Caching
  meaning: string
  parameters: readonly Parameter[]
}>
