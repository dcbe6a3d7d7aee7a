"""The kinds of records in the transcripts of hosts, and what each is used for.

One table: what is said in a conversation (a turn), what tells only of a tool's work (a trace), and
what is neither, each with the reason. It has every kind that the newest versions write, as their
programs name them: Claude Code 2.1.332, Codex 0.171.0 and Gemini CLI 0.61.0, and those of earlier
versions; Cursor's from its files. What is in no row was added since: it is not kept, but counted,
for ``memstore status`` and ``memstore doctor``.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from memstore.lazy import lazy_pattern
from memstore.named import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection

CLAUDE_CODE: Final = "claude-code"
CODEX: Final = "codex"
GEMINI: Final = "gemini-cli"
CURSOR: Final = "cursor"


class Use(StrEnum):
    """What a record is used for."""

    TURN = "turn"
    """A turn; the calls of tools in it are read for the trace, too."""
    TRACE = "trace"
    IGNORED = "ignored"


class KindRow(NamedTuple):
    """Kinds of records of a host that are used in the same way."""

    host: str
    use: Use
    reason: str
    names: frozenset[str]
    """Kinds inside another one are named after it: ``attachment/queued_command``."""


def _row(host: str, use: Use, reason: str, names: str, within: str = "") -> KindRow:
    return KindRow(host, use, reason, frozenset(within + name for name in names.split()))


TABLE: Final = (
    # -- Claude Code: the ``type`` of a record, and of an attachment -------------------------------
    _row(CLAUDE_CODE, Use.TURN, "what was said", "user assistant"),
    _row(
        CLAUDE_CODE,
        Use.TURN,
        "what a person typed while the agent worked",
        "attachment/queued_command",
    ),
    _row(
        CLAUDE_CODE,
        Use.IGNORED,
        "a copy of what was sent to the model: the turns in it have records of their own",
        "api-request api-request-blob api-request-resumed api-request-shape last-prompt "
        "queue-operation content-replacement",
    ),
    _row(
        CLAUDE_CODE,
        Use.IGNORED,
        "written by a model about the conversation: titles and summaries",
        "summary ai-title",
    ),
    _row(CLAUDE_CODE, Use.IGNORED, "notices of the program, and progress", "system progress"),
    _row(
        CLAUDE_CODE,
        Use.IGNORED,
        "the state of the session, its files and its costs",
        "agent-color agent-name agent-setting artifact-autoreact-ledger artifact-comment-monitor "
        "atis-latch attribution-snapshot bridge-session continued-in cost-state custom-title "
        "data-flow-incomplete data-flow-records derived-from dev-mods ended-by-model "
        "file-history-delta file-history-snapshot fork-context-ref frame-link history-suppression "
        "host-row hybrid-organization isolation-latch marble-origami-commit marble-origami-reset "
        "marble-origami-snapshot memory-mode mode observer-ref "
        "permission-mode pr-link relocated repl-mode resume-head-vouch session-owner "
        "speculation-accept tag "
        "tools-used worktree-state",
    ),
    _row(
        CLAUDE_CODE,
        Use.IGNORED,
        "what hooks said, ours among them",
        "async_hook_response async_hook_response_batch hook_additional_context "
        "hook_blocking_error hook_cancelled hook_deferred_tool hook_error_during_execution "
        "hook_non_blocking_error hook_permission_decision hook_stopped_continuation hook_success "
        "hook_system_message",
        "attachment/",
    ),
    _row(
        CLAUDE_CODE,
        Use.IGNORED,
        "files, pages and selections shown to the model",
        "already_read_file artifact_opening_prefetch at_mention_reference compact_file_reference "
        "diagnostics directory edited_image_file edited_text_file file inlined_image_paths "
        "mcp_resource message_pdf_reads opened_file_in_ide pdf_reference plan_file_reference "
        "project_doc_reads prompt_as_file selected_lines_in_diff selected_lines_in_ide",
        "attachment/",
    ),
    _row(
        CLAUDE_CODE,
        Use.IGNORED,
        "the host's own memories and instructions",
        "account_memory_recall cowork_memory_context instructions invoked_skills memory_update "
        "nested_memory relevant_memories ultramemory withheld_memory",
        "attachment/",
    ),
    _row(
        CLAUDE_CODE,
        Use.IGNORED,
        "messages of other agents, tasks and programs",
        "agent_mention async_agent_status coordinator_context peer_mention plugin_note poll_events "
        "projects_thread_ask session_cron_carry task_status team_context teammate_mailbox "
        "teammate_shutdown_batch tool_host_result_lines",
        "attachment/",
    ),
    _row(
        CLAUDE_CODE,
        Use.IGNORED,
        "what the program tells the model of itself: its state, tools and limits",
        "advisor_stripped advisor_tool agent_ask_notice agent_listing_delta attention_budget "
        "auto_mode auto_mode_exit bagel_console bash_output_audience_note batching_reminder "
        "batching_reminder_sent budget_usd claude_app_notice command_permissions "
        "compaction_reminder companion_intro context_efficiency context_sections context_tip "
        "credential_org "
        "critical_system_reminder date date_change deferred_tools_delta deferred_tools_record "
        "dynamic_skill elapsed_time_reminder environment first_week fork_briefing goal_status "
        "goals language linked_plugin_tools_note max_turns_reached mcp_dropped_tools_delta "
        "mcp_instructions_delta model output_limit_note output_style output_style_instructions "
        "output_token_usage plan_mode plan_mode_exit plan_mode_reentry prefix_delta proactivity "
        "progress_reminder progress_reminder_sent prompt_render_point prompt_snapshot "
        "read_truncation_notice remote_session_change repl_mcp_needs_auth repl_mcp_servers "
        "sandbox_instructions secondary_reminder secondary_reminder_sent session_context "
        "silent_turn_reminder skill_discovery skill_listing skill_mention structured_output "
        "task_reminder thinking_drop thinking_stripped thread_state todo todo_reminder token_usage "
        "tool_hosts_correction tool_hosts_notice tool_offer_record tool_results_cut "
        "tool_search_usage_reminder total_tokens_reminder ultra_effort_enter ultra_effort_exit "
        "ultrathink_effort unknown_command_fallback verify_plan_reminder whole_texts_withdrawn "
        "widget_context_hint workflow_keyword_request workflow_size_guideline_change",
        "attachment/",
    ),
    # -- Codex: the ``type`` of a line, of an event, and of an item --------------------------------
    _row(
        CODEX,
        Use.TURN,
        "what was said, until items took their place",
        "user_message agent_message",
        "event_msg/",
    ),
    _row(
        CODEX,
        Use.TURN,
        "what was said, the plan that was proposed, and the result of a review",
        "UserMessage AgentMessage Plan ExitedReviewMode",
        "event_msg/item_completed/",
    ),
    _row(
        CODEX,
        Use.TRACE,
        "commands and changed files",
        "exec_command_end patch_apply_end item_completed/CommandExecution "
        "item_completed/FileChange",
        "event_msg/",
    ),
    _row(
        CODEX,
        Use.IGNORED,
        "tools, and what the model thinks and is told",
        "CollabAgentToolCall ContextCompaction DynamicToolCall EnteredReviewMode Extension "
        "FunctionCallOutput HookPrompt ImageGeneration ImageView McpToolCall Reasoning Sleep "
        "SubAgentActivity WebSearch",
        "event_msg/item_completed/",
    ),
    _row(
        CODEX,
        Use.IGNORED,
        "what is sent to the model and back: the turns in it are events, too",
        "response_item compacted",
    ),
    _row(
        CODEX,
        Use.IGNORED,
        "messages between agents, and of voice conversations, in a form that was not seen",
        "inter_agent_communication inter_agent_communication_metadata realtime_item",
    ),
    _row(
        CODEX,
        Use.IGNORED,
        "the state of the session, and its costs",
        "dynamic_tools_updated retained_context security_risk_score session_meta "
        "token_usage_record turn_context world_state",
    ),
    _row(
        CODEX,
        Use.IGNORED,
        "events of the program, and parts of what is said",
        "agent_message_content_delta agent_message_delta agent_reasoning agent_reasoning_delta "
        "agent_reasoning_raw_content agent_reasoning_raw_content_delta "
        "agent_reasoning_section_break apply_patch_approval_request auth_recovery_completed "
        "auth_recovery_started background_event collab_agent_interaction_begin "
        "collab_agent_interaction_end collab_agent_spawn_begin collab_agent_spawn_end "
        "collab_close_begin collab_close_end collab_resume_begin collab_resume_end "
        "collab_waiting_begin collab_waiting_end context_compacted deprecation_notice "
        "dynamic_tool_call_request dynamic_tool_call_response elicitation_abandoned "
        "elicitation_request entered_review_mode environment_connected environment_disconnected "
        "error exec_approval_request exec_command_begin exec_command_output_delta "
        "exited_review_mode guardian_assessment guardian_warning hook_completed hook_started "
        "image_generation_begin image_generation_end item_started mcp_startup_complete "
        "mcp_startup_update mcp_tool_call_begin mcp_tool_call_end model_reroute "
        "model_verification patch_apply_begin patch_apply_updated plan_delta plan_update "
        "raw_response_completed raw_response_item realtime_conversation_closed "
        "realtime_conversation_list_voices_response realtime_conversation_realtime "
        "realtime_conversation_sdp realtime_conversation_started reasoning_content_delta "
        "reasoning_raw_content_delta request_permissions request_user_input safety_buffering "
        "session_configured shutdown_complete stream_error sub_agent_activity task_complete "
        "task_started terminal_interaction thread_goal_updated thread_name_updated "
        "thread_queue_changed thread_rolled_back thread_settings_applied token_count turn_aborted "
        "turn_diff turn_moderation_metadata undo_completed undo_started view_image_tool_call "
        "warning web_search_begin web_search_end",
        "event_msg/",
    ),
    # -- Gemini CLI: the ``type`` of a message -----------------------------------------------------
    _row(GEMINI, Use.TURN, "what was said", "user gemini"),
    _row(GEMINI, Use.TURN, "a prompt in the log of them, of sessions without a file", "log/user"),
    _row(GEMINI, Use.IGNORED, "notices of the program", "error info warning log/info"),
    # -- Cursor: the ``role`` of a record ----------------------------------------------------------
    _row(CURSOR, Use.TURN, "what was said", "user assistant"),
    _row(CURSOR, Use.IGNORED, "what is told to the model, and tools", "system tool"),
)

USES: Final = {(row.host, name): row.use for row in TABLE for name in row.names}

MAX_UNKNOWN: Final = 20
"""Names of unknown kinds that are counted apart in a transcript."""

NAME: Final = lazy_pattern(r"[\w./-]{1,80}", re.ASCII)
"""The form of a name that is shown; a transcript may hold any text there."""

UNKNOWN: Final = "of the unknown kind "
"""The beginning of the reason for which a record of an unknown kind is left out."""

OTHER: Final = "(others)"


def use_of(host: str, name: str) -> Use | None:
    """Return what a kind of record of a host is used for; ``None`` if it is unknown."""
    return USES.get((host, name))


def unknown(name: str, counted: Collection[str]) -> str:
    """Return the reason under which a record of an unknown kind is counted.

    Args:
        counted: the reasons that were counted already: few of them have names.
    """
    shown = NAME.fullmatch(name) is not None
    reason = UNKNOWN + (name if shown else OTHER)
    if reason in counted or sum(one.startswith(UNKNOWN) for one in counted) < MAX_UNKNOWN:
        return reason
    return UNKNOWN + OTHER
