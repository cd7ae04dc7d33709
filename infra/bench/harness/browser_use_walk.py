"""Walks with browser-use: prints the seconds of each step as one JSON line. The model on the wire says where to go."""

import asyncio
import json
import sys
import time

from browser_use import Agent, BrowserProfile, ChatOpenAI


async def walk(place: dict) -> list[float]:
    stamps: list[float] = []

    async def stamp(*_) -> None:
        stamps.append(time.perf_counter())

    agent = Agent(
        task="Walk.",
        llm=ChatOpenAI(model="walk", base_url=place["modelUrl"], api_key="none", max_retries=0),
        browser_profile=BrowserProfile(
            headless=True,
            executable_path=place["chromium"],
            chromium_sandbox=False,
            enable_default_extensions=False,
            proxy={"server": place["proxy"]},
            viewport=place["viewport"],
            # Its own waits are off: what is compared is the work.
            minimum_wait_page_load_time=0,
            wait_for_network_idle_page_load_time=0,
            wait_between_actions=0,
        ),
        initial_actions=[{"navigate": {"url": place["startUrl"], "new_tab": False}}],
        directly_open_url=False,
        use_judge=False,
        use_vision=True,
        max_actions_per_step=1,
        register_new_step_callback=stamp,
    )
    await agent.run(max_steps=place["steps"] + 1)
    return [later - earlier for earlier, later in zip(stamps, stamps[1:])]


print(json.dumps(asyncio.run(walk(json.loads(sys.argv[1])))))
