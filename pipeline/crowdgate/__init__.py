"""Crowdgate's library: releases data about people, and refuses to when it must."""
