import './island-still.ts'
import { startVerify } from './island-verify-forms.ts'

// Script of the page of checks, which run in the browser. Its policy allows requests to its own server alone.
startVerify(null)
