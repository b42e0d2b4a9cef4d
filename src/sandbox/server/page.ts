/** For who opens the server in a browser; upstream sends them on to its own documentation. */
export const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>rollout-viewer sandbox</title>
<h1>rollout-viewer sandbox</h1>
<p>This server runs code. It speaks the API of SandboxFusion: POST /run_code, /run_jupyter, /submit, /get_prompts …,
and verl's sessions: POST /start_instance, /process_action, /postprocess, /compute_reward.</p>
</html>
`;
