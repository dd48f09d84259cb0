import type { CodePage } from "../codes.ts";

export const agentCodes = {
  "agent.budget_exhausted": {
    summary: "The agent reached one of its bounds before it returned a result.",
    cause:
      "It asked for a further tool call after its last attempt (retries count), its tokens reached the bound at the end of a turn, or its duration was over. `on_exhausted` has run if there is one; the step fails all the same.",
    fix: "Raise the budget, make the goal smaller, or handle the code in `catch`. An `on_exhausted` list is for telling and cleaning up, not for a replacement result.",
    example: "budget: { steps: 2 }   # the agent proposes a third call",
    since: "0.1.0",
  },
  "agent.invalid_result": {
    summary: "The agent returned a result that does not fit `returns`.",
    cause: "A field is unknown, missing, of another type, outside its enum, pattern or range. Nothing of it is bound.",
    fix: "Say in the goal what each field means, give optional fields a default, or loosen the declaration. The details name the fields.",
    example: "returns: { account_id: string }   # the agent returns { id: a-1 }",
    since: "0.1.0",
  },
  "agent.no_result": {
    summary: "The agent neither called a tool nor returned a result, twice.",
    cause:
      "A turn without a proposal and without a result is answered once with a request for the result; the next such turn ends the step. A scripted agent whose turns have run out says an empty text, which is such a turn.",
    fix: "Say in the goal that a result is expected and when the work is done; a model that calls no tools well may need another configuration. Give a script one turn more, with finish.",
    example: "turns: [ { say: thinking }, { say: still thinking } ]",
    since: "0.1.0",
  },
  "agent.no_progress": {
    summary: "The agent's proposals of eight turns in a row were all refused, or it took a thousand turns.",
    cause: "It keeps asking for tools that it does not have, or for arguments that do not fit, whatever it is told.",
    fix: "Look at the refusals with `ambit runs show RUN --step POSITION`; add the tool if it is meant to have it, or say in the goal which tools there are.",
    example: "tools: [crm.search]   # the agent asks for crm.delete again and again",
    since: "0.1.0",
  },
  "agent.gave_up": {
    summary: "The agent gave up and said why.",
    cause:
      "It judged that it cannot reach the goal with its tools and context. The message has its reason. Calls that it proposed in the same turn are refused with this code.",
    fix: "Give it what it lacks, or handle the code in `catch`.",
    example: "turns: [ { give_up: there is no such account } ]",
    since: "0.1.0",
  },
  "agent.rejected": {
    summary: "The provider did not accept the goal or the context.",
    cause:
      "The request was refused as such: too long, against the provider's rules, or with a setting that the model does not take.",
    fix: "Project less into `with`, shorten the goal, or choose another model. Trying again gives the same answer.",
    example: "error: { code: invalid_request, message: prompt is too long }",
    since: "0.1.0",
  },
  "agent.unavailable": {
    summary: "The model could not be reached.",
    cause:
      "The provider is down, overloaded beyond the configured retries, or refuses the credentials; or a script has no entry for that agent or that step.",
    fix: "Check `ambit doctor`, the key and the network; `retries` and `stall` stand in the agent's configuration.",
    example: "agents: { helper: { provider: openai-compatible, base_url: http://127.0.0.1:1/v1, model: x } }",
    since: "0.1.0",
  },
  "agent.stalled": {
    summary: "The model's answer stopped coming.",
    cause: "Its stream sent nothing for the configured time (`stall`).",
    fix: "Raise `stall` for slow models, or look at the provider.",
    example: "stall: 5s   # and the model thinks for a minute without a sign",
    since: "0.1.0",
  },
  "agent.undeclared_tool": {
    summary: "A refusal: the agent proposed a tool that its step does not list.",
    cause:
      "Only exact names of `tools` dispatch. Other spellings, other connectors, constructs and other agents are no tools.",
    fix: "Nothing, if it must not have the tool: the agent was told and the run goes on. Otherwise add it to `tools`.",
    example: "tools: [crm.search]   # proposal: search",
    since: "0.1.0",
  },
  "agent.reserved_key": {
    summary: "A refusal: the agent supplied an input that is the engine's alone.",
    cause:
      "The idempotency key of a keyed action, or an input that the deployment fixes (`policy.agents`), came with the proposal.",
    fix: "Nothing: the agent was told to leave it out. The schema that it sees does not have the field.",
    example: "call: billing.charge, with: { amount: 1, idempotency_key: mine }",
    since: "0.1.0",
  },
  "agent.result_given": {
    summary: "A refusal: calls came in the same turn as the result.",
    cause: "A typed result ends the step; what is proposed beside it is not done.",
    fix: "Nothing: the result counts.",
    example: "turns: [ { finish: { ok: true }, calls: [ { tool: crm.search } ] } ]",
    since: "0.1.0",
  },
  "agent.too_many_calls": {
    summary: "A refusal: more than 64 calls in one turn.",
    cause: "The first 64 are looked at, the rest is refused as one.",
    fix: "Nothing: the agent was told. A loop over items belongs into the file (`wf.each`).",
    example: "calls: [ ...65 proposals... ]",
    since: "0.1.0",
  },
  "agent.unkeyed_write": {
    summary: "A hint: an agent holds a write that has no idempotency key.",
    cause:
      "If the process dies between such a call and its result, nobody knows whether it happened, and the run ends with an unknown outcome.",
    fix: "Let the agent return what is to be written and write it in an ordinary step, or give the action a key in its manifest.",
    example: "tools: [mail.send]   # effects: write, idempotency: none",
    since: "0.1.0",
  },
} as const satisfies { [code: string]: CodePage };
